#!/bin/sh
# Mends a few lines of Redmine's own; a line that is not there any more ends the build.
set -eu
cd /srv/forge/app

# usage: mend FILE EXPRESSION        (of sed)
mend() {
    sed "$2" "$1" >/tmp/mended
    if cmp -s "$1" /tmp/mended; then echo "$1: nothing to mend by $2" >&2; exit 1; fi
    cat /tmp/mended >"$1"
    rm /tmp/mended
}

# Boxes that choose a row, and what a filter compares with, have names for assistive technology.
for file in issues/_list versions/show versions/index; do
    mend app/views/$file.html.erb "s/\"ids\\[\\]\", issue.id, false, :id => nil/&, 'aria-label' => \"#{issue.tracker} ##{issue.id}\"/
        s/'ids\\[\\]', issue.id, false, :id => nil/&, 'aria-label' => \"#{issue.tracker} ##{issue.id}\"/"
done
mend app/views/timelog/_list.html.erb "s/\"ids\\[\\]\", entry.id, false, :id => nil/&, 'aria-label' => \"#{l(:label_spent_time)} #{entry.id}\"/"
mend app/helpers/issues_helper.rb "s/\"ids\\[\\]\", child.id, false, :id => nil/&, 'aria-label' => \"#{child.tracker} ##{child.id}\"/"
mend app/helpers/issues_helper.rb "/\"ids\\[\\]\", other_issue.id,/{n;s/false, :id => nil/&, 'aria-label' => \"#{other_issue.tracker} ##{other_issue.id}\"/;}"
mend public/javascripts/application.js "/^function buildFilterRow/,/^}/s/^}\$/  tr.find('td.operator select').attr('aria-label', filterOptions['name'] + ': operator');\\
  tr.find('td.values :input').attr('aria-label', filterOptions['name'] + ': value');\\
}/"
# An account's page has a link to follow its owner, and says who does (80_following.rb).
mend app/views/users/show.html.erb 's/^<div class="contextual">$/&\n<%= render "users\/follow" %>/
    s/^<%= call_hook :view_account_left_bottom/<%= render "users\/followers" %>\n&/'
# The charts' script has another name than in Redmine's own archive.
ln -s ../../../javascript/chart.js/chart.min.js public/javascripts/chart.min.js
