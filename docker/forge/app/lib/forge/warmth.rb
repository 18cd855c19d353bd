# frozen_string_literal: true

require 'rack/mock'

module Forge
  # Looks at pages in this process, so that those who are forked from it find code, templates and schema warm.
  class Warmth
    DEADLINE_S = 60
    PATHS = %w[/health / /projects /login].freeze

    def initialize(app)
      @app = app
    end

    # Look at every page; the database must answer within the deadline. Leaves no connection behind.
    def spread
      wait_for_database
      PATHS.each { |path| look(path) }
      ActiveRecord::Base.connection_handler.clear_all_connections!
      GC.start
      GC.compact if GC.respond_to?(:compact)
    end

    private

    def look(path)
      request = Rack::MockRequest.env_for("http://forge.arena.test#{path}")
      status, _headers, body = @app.call(request)
      body.each { |_part| nil }
      body.close if body.respond_to?(:close)
      raise "#{path} answered #{status}" if status >= 400
    end

    # The socket is there before the database listens on it, and not there before that: both are waited for.
    def wait_for_database
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + DEADLINE_S
      begin
        ActiveRecord::Base.connection.execute('SELECT 1')
      rescue ActiveRecord::ConnectionNotEstablished
        raise if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

        sleep(0.02)
        retry
      end
    end
  end
end
