# frozen_string_literal: true

require 'rack/mock'

module Forge
  # Looks at pages in this process, so that those who are forked from it find code, templates and schema warm.
  class Warmth
    DEADLINE_S = 60
    HOST = 'http://forge.arena.test'
    PROJECT = '/projects/kettle-firmware'
    PATHS = ['/health', '/', '/projects', '/issues/100', PROJECT, "#{PROJECT}/issues", "#{PROJECT}/wiki",
             "#{PROJECT}/repository", "#{PROJECT}/issues/new"].freeze
    ACCOUNT = { 'username' => 'ines.ferreira', 'password' => 'forge-ines-2026' }.freeze

    def initialize(app)
      @app = app
      @cookie = nil
    end

    # Look at every page; the database must answer within the deadline. Leaves no connection behind.
    def spread
      wait_for_database
      log_in
      PATHS.each { |path| ask('GET', path) }
      ActiveRecord::Base.connection_handler.clear_all_connections!
      GC.start
      GC.compact if GC.respond_to?(:compact)
    end

    private

    def log_in
      token = ask('GET', '/login')[/name="authenticity_token" value="([^"]+)"/, 1]
      ask('POST', '/login', params: ACCOUNT.merge('authenticity_token' => token))
    end

    def ask(method, path, **more)
      request = Rack::MockRequest.env_for("#{HOST}#{path}", method: method, 'HTTP_COOKIE' => @cookie.to_s, **more)
      status, headers, body = @app.call(request)
      raise "#{path} answered #{status}" if status >= 400

      @cookie = headers['Set-Cookie'].split(';').first if headers['Set-Cookie']
      text = +''
      body.each { |part| text << part.to_s }
      body.close if body.respond_to?(:close)
      text
    end

    # The socket is there before the database listens on it, and not there before that: both are waited for.
    def wait_for_database
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + DEADLINE_S
      begin
        ActiveRecord::Base.connection.execute('SELECT 1')
      rescue ActiveRecord::ConnectionNotEstablished, Mysql2::Error
        raise if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

        sleep(0.02)
        retry
      end
    end
  end
end
