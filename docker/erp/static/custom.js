/* The web client's own hook for a firm's scripts. It keeps the session that the client stores in
   the browser and the cookie of the login page the same, so that either way of logging in holds
   for both; and it names fields that the client leaves without a name. */
(function () {
  'use strict';
  var DATABASE = 'erp', COOKIE = 'erp_session', STORED = 'sao_session_' + DATABASE;

  function kept() {
    var found = document.cookie.match(new RegExp('(?:^|; )' + COOKIE + '=([^;]*)'));
    return found ? decodeURIComponent(found[1]) : null;
  }

  function keep(value) {
    document.cookie = COOKIE + '=' + (value ? encodeURIComponent(value) : '') +
      '; path=/; SameSite=Lax' + (value ? '' : '; max-age=0');
  }

  var held = kept();
  if (held) {
    var parts = decodeURIComponent(escape(window.atob(held))).split(':');
    localStorage.setItem(STORED, JSON.stringify(
      {login: parts[0], user_id: parseInt(parts[1], 10), session: parts[2]}));
  } else {
    localStorage.removeItem(STORED);
  }
  if (!window.location.hash) {
    window.history.replaceState(null, '', '#' + DATABASE);
  }

  // Fields in lists, boxes that choose a row, and calendars have no names: a field's is that of its
  // column, which the client keeps in each cell for narrow screens.
  function giveNames() {
    document.querySelectorAll('td[data-title] :is(input, select, textarea):not([aria-label]):not([aria-labelledby])')
      .forEach(function (field) {
        field.setAttribute('aria-label', field.closest('td').dataset.title.replace(/:\s*$/, ''));
      });
    document.querySelectorAll('.selection-state input:not([aria-label])').forEach(function (box) {
      box.setAttribute('aria-label', box.closest('thead') ? 'Select all' : 'Select');
    });
    document.querySelectorAll('.icon-input[aria-label] > input[type=date]:not([data-named])')
      .forEach(function (button) {
        button.setAttribute('aria-label', button.parentNode.getAttribute('aria-label'));
        button.dataset.named = '';
      });
  }
  var isAsked = false;
  new MutationObserver(function () {
    if (!isAsked) {
      isAsked = true;
      window.requestAnimationFrame(function () {
        isAsked = false;
        giveNames();
      });
    }
  }).observe(document.documentElement, {childList: true, subtree: true});

  var store = Sao.Session.prototype.store, leave = Sao.Session.prototype.do_logout;
  Sao.Session.prototype.store = function () {
    store.call(this);
    keep(this.session ? this.get_auth() : null);
  };
  Sao.Session.prototype.do_logout = function () {
    if (!(this.user_id && this.session)) {
      return leave.call(this);
    }
    // The login page's own way out ends the session on the server.
    this.unstore();
    this.database = this.login = this.user_id = this.session = null;
    if (Sao.Session.current_session === this) {
      Sao.Session.current_session = null;
    }
    return jQuery.get('/logout');
  };
}());
