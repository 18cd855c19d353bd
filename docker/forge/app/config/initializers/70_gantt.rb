# frozen_string_literal: true

# The Gantt chart of all projects asks for what its rows say in one go: Redmine asks for each of the 500 rows,
# and for each version some fourteen times, which took 3,300 queries. The page is the same.
module ForgeGantt
  ROWS = [:parent, { fixed_version: :project }].freeze
  SUMS = <<~SQL.squish
    COUNT(*), MIN(issues.start_date), SUM(issues.estimated_hours), COUNT(issues.estimated_hours),
    SUM(COALESCE(issues.estimated_hours, 0) * issues.done_ratio), SUM(IF(issues.estimated_hours IS NULL, issues.done_ratio, 0))
  SQL

  # What Redmine's FixedIssuesExtension works out about the issues of one version, from sums over them.
  class Issues
    def initialize(open, closed)
      @open = open || [0, nil, 0, 0, 0, 0]
      @closed = closed || [0, nil, 0, 0, 0, 0]
    end

    def start_date
      [@open[1], @closed[1]].compact.min
    end

    def open_count
      @open[0]
    end

    def completed_percent
      return 0 if count.zero?
      return 100 if open_count.zero?

      closed = 100 * (hours(@closed) + (average * (@closed[0] - @closed[3])))
      open = @open[4].to_f + (average * @open[5].to_f)
      (closed + open) / (average * count)
    end

    private

    def count
      @open[0] + @closed[0]
    end

    def hours(sums)
      sums[2].to_f
    end

    # The mean estimate, by which issues without one are weighted.
    def average
      estimated = @open[3] + @closed[3]
      mean = estimated.zero? ? 0 : (hours(@open) + hours(@closed)) / estimated
      mean.zero? ? 1 : mean
    end

    def self.of(scope, ids)
      sums = scope.joins(:status).where(fixed_version_id: ids).group(:fixed_version_id, 'issue_statuses.is_closed')
                  .pluck(:fixed_version_id, Arel.sql('issue_statuses.is_closed'), Arel.sql(SUMS))
      found = sums.to_h { |id, closed, *rest| [[id, [1, true].include?(closed)], rest] }
      ids.to_h { |id| [id, new(found[[id, false]], found[[id, true]])] }
    end
  end

  module Rows
    def issues
      @issues ||= super.tap do |issues|
        ActiveRecord::Associations::Preloader.new.preload(issues, ROWS)
        below = issues.group_by(&:parent_id)
        issues.each { |issue| issue.know_children(below.fetch(issue.id, [])) }
        versions = issues.filter_map(&:fixed_version).uniq
        all, seen = [Issue.all, Issue.visible].map { |scope| Issues.of(scope, versions.map(&:id)) }
        versions.each { |version| version.know(all[version.id], seen[version.id]) }
      end
    end
  end

  # A row is one that can be opened where a child of it is a row as well: which others it has is not asked.
  module KnownChildren
    def know_children(children)
      @known_children = children.sort_by(&:lft)
    end

    def children
      @known_children || super
    end
  end

  module KnownIssues
    def know(all, visible)
      @known_issues = all
      @visible_fixed_issues = visible
      @start_date = all.start_date
    end

    def completed_percent
      @known_issues ? @known_issues.completed_percent : super
    end

    def open_issues_count
      @known_issues ? @known_issues.open_count : super
    end
  end
end

Rails.application.config.to_prepare do
  Redmine::Helpers::Gantt.prepend(ForgeGantt::Rows)
  Issue.prepend(ForgeGantt::KnownChildren)
  Version.prepend(ForgeGantt::KnownIssues)
end
