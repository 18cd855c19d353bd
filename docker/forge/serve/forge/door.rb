# frozen_string_literal: true

require_relative 'git_over_http'

module Forge
  # What answers a request: Git below /git/, Redmine everywhere else.
  class Door
    PREFIX = '/git/'

    def initialize(redmine)
      @redmine = redmine
      @git = GitOverHttp.new
    end

    def call(env)
      env['PATH_INFO'].start_with?(PREFIX) ? @git.call(env) : @redmine.call(env)
    end
  end
end
