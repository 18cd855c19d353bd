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

# Headers of Git over HTTP: Pagure gives them as bytes, and no Git takes the answer b'application/x-git-…' for one of its own.
cd /usr/lib/python3/dist-packages/pagure/ui
sed -i 's/^\( *headers\[str(header\[0\]\.lower())\] = header\[1\]\)$/\1.decode("utf-8")/' clone.py
grep -q 'header\[1\]\.decode' clone.py
python3 -m compileall -q clone.py
