/* The web client's own hook for a firm's scripts. It keeps the session that the client stores in
   the browser and the cookie of the login page the same, so that either way of logging in holds
   for both. */
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
