#!/bin/sh
# Mends what Debian's package leaves broken.
set -eu
# Debian's selectize wants two libraries beside it, which no page loads; and pages look for its style sheet elsewhere.
cd /usr/share/pagure/static/vendor/selectize
rm selectize.js selectize.min.js
cat /usr/share/javascript/sifter.js/sifter.js /usr/share/javascript/microplugin.js/microplugin.js \
    /usr/share/javascript/selectize.js/selectize.js > selectize.js
cp selectize.js selectize.min.js
cp /usr/share/javascript/selectize.js/css/selectize.bootstrap3.css .

# Pages ask for these too: what Debian has is linked, what it has not stands empty.
cd ..
ln -s ../../../../javascript/jquery-atwho/jquery.atwho.css jquery.atwho/
ln -s ../../../../javascript/highlight.js/styles highlight.js/styles
: > highlight.js/spec.js
mkdir highlightjs-line-numbers
: > highlightjs-line-numbers/highlightjs-line-numbers.min.css
echo 'hljs.lineNumbersBlock = function () {};' > highlightjs-line-numbers/highlightjs-line-numbers.min.js
test -z "$(find /usr/share/pagure -xtype l)"

# Links that lead nowhere and are there for scripts: buttons, with a name where only an icon shows.
cd /usr/share/pagure/templates
sed -i -E 's/<a class="([^"]*\bpointer\b[^"]*)"/<a role="button" tabindex="0" class="\1"/' ./*.html
sed -i -E 's/<a (role="button"[^>]*issue-metadata-display editmetadatatoggle)/<a aria-label="Edit metadata" \1/
    s/<a (role="button"[^>]*issue-metadata-form hidden editmetadatatoggle)/<a aria-label="Leave metadata as it is" \1/' \
    issue.html repo_pull_request.html
grep -q 'aria-label="Edit metadata"' issue.html
sed -i '/nav-link dropdown-toggle" data-toggle="dropdown"/s/<a /&aria-label="Your account" /' master.html
sed -i -E 's/assignee=(issue|request)\.assignee\.username\) }}"/& aria-label="Assigned to {{ \1.assignee.username }}"/' \
    _render_issues.html _render_pullrequests.html
grep -q 'Your account' master.html && grep -q 'Assigned to' _render_issues.html && grep -q 'Assigned to' _render_pullrequests.html

# Headers of Git over HTTP: Pagure gives them as bytes, and no Git takes the answer b'application/x-git-…' for one of its own.
cd /usr/lib/python3/dist-packages/pagure/ui
sed -i 's/^\( *headers\[str(header\[0\]\.lower())\] = header\[1\]\)$/\1.decode("utf-8")/' clone.py
grep -q 'header\[1\]\.decode' clone.py
python3 -m compileall -q clone.py

# New files: a form above each list of files leads to the editor (app/hub/new_files.py), and what it saves is committed
# though Git does not know it yet, in a new folder too.
cat > /tmp/new_file.html <<'END'
      {% if branchname in g.branches and may_push(branchname) %}
      <form class="form-inline float-left pl-2" method="get" action="{{ url_for('new_file', repo=repo.name,
          username=username, namespace=repo.namespace, branchname=branchname) }}">
        <input type="hidden" name="folder" value="{{ filename if filename }}">
        <input class="form-control form-control-sm mr-1" name="name" required aria-label="Name of the new file"
            placeholder="name, or folder/name">
        <button class="btn btn-sm btn-secondary">New file</button>
      </form>
      {% endif %}
END
line=$(grep -n 'View git log for this path' /usr/share/pagure/templates/file.html | cut -d: -f1)
sed -i "$((line - 7))r /tmp/new_file.html" /usr/share/pagure/templates/file.html
sed -i -E 's/^( *lineNumbers: true)$/\1,\n    screenReaderLabel: "Content of the file",\n    extraKeys: {"Tab": false, "Shift-Tab": false},\n    autofocus: {{ "false" if data else "true" }}/
    s|(<input type="radio" name="braction"[^>]*>)([A-Za-z ]+)|<label>\1 \2</label>|
    s|<select name="branch"|& aria-label="Branch"|
    s|placeholder="Branch name"|& aria-label="Branch name"|' /usr/share/pagure/templates/edit_file.html
grep -q 'screenReaderLabel' /usr/share/pagure/templates/edit_file.html
cd /usr/lib/python3/dist-packages/pagure/lib
sed -i '/^def _update_file_in_git/,/^def /{
    s/^\( *\)with open(file_path, "wb") as stream:/\1os.makedirs(os.path.dirname(file_path), exist_ok=True)\n&/
    s/new_repo\.diff()/new_repo.diff(flags=pygit2.GIT_DIFF_INCLUDE_UNTRACKED | pygit2.GIT_DIFF_RECURSE_UNTRACKED_DIRS)/
}' git.py
grep -q 'os.makedirs(os.path.dirname(file_path)' git.py && grep -q 'diff(flags=pygit2.GIT_DIFF_INCLUDE' git.py

# Stars: on each card, and as an order of the list.
sed -i '/^def search_projects/,/^def /s/^    elif sort == "oldest":/    elif sort == "stars":\
        stars = session.query(func.count(model.Star.id)).filter(model.Star.project_id == model.Project.id)\
        query = query.order_by(stars.correlate(model.Project).scalar_subquery().desc(), func.lower(model.Project.name))\
&/' query.py
grep -q 'sort == "stars"' query.py
python3 -m compileall -q git.py query.py
cd /usr/share/pagure/templates
sed -i 's|^\( *\)<span title="Forks" data-toggle="tooltip">|\1<span title="Stars" data-toggle="tooltip" class="pr-2">\
\1  <i class="fa fa-star" aria-hidden="true"></i> <span class="sr-only">Stars:</span> {{ repo.stargazers\|count }}\
\1</span>\
&|' _render_repo.html
cat > /tmp/most_stars.html <<'END'
          <a class="dropdown-item" href="{{ url_for('ui_ns.browse_projects', sorting='stars') }}">
            {% if sorting == 'stars' %}<span class="fa fa-check"></span>{% endif %}
            Most Stars
          </a>
END
line=$(grep -n 'Oldest First' _render_repo.html | cut -d: -f1)
sed -i "$((line + 1))r /tmp/most_stars.html" _render_repo.html
grep -q 'repo.stargazers' _render_repo.html

# On a telephone.
cat >> /usr/share/pagure/static/pagure.css <<'END'
/* On a telephone: nothing beside the list of pages, and no wider than the screen. */
@media (max-width: 575px) {
  nav.navbar .container { flex-wrap: wrap; padding: 0; }
  nav.navbar .navbar-nav > li.ml-3 { margin-left: .4rem !important; }
  #pagureLogo { height: 28px; }
  .container > .row > .col-2, .container > .row > .col-10, .container .row > .col-6 { flex: 0 0 100%; max-width: 100%; }
  .container > .row > .col-2 { height: auto !important; margin-bottom: 1rem; }
  .nav-sidetabs { min-height: 0 !important; flex-direction: row !important; }
  .btn-group { flex-wrap: wrap; }
  .d-flex:has(> .ml-auto.d-flex.flex-column) { flex-wrap: wrap; }
  pre, table { max-width: 100%; }
}
END
