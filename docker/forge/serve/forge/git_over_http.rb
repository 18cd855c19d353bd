# frozen_string_literal: true

require 'open3'
require 'rack/auth/basic'

module Forge
  # Clone, fetch and push over HTTP, for whom Redmine lets browse the repository or commit to it.
  #
  # /git/NAME.git speaks git's smart protocol (gitprotocol-http(5)) by way of git http-backend. Accounts are
  # Redmine's, by HTTP basic authentication, with the password or the API key. After a push Redmine reads the new
  # commits at once, so that its pages show them and "fixes #12" closes issue 12.
  class GitOverHttp
    FOLDER = '/srv/forge/state/repositories'
    DEADLINE_S = 60
    PATH = %r{\A/git/(?<name>[a-z0-9][a-z0-9_.-]*\.git)/(?<rest>info/refs|git-upload-pack|git-receive-pack)\z}
    RIGHTS = { 'git-upload-pack' => :browse_repository, 'git-receive-pack' => :commit_access }.freeze
    METHODS = { 'info/refs' => 'GET', 'git-upload-pack' => 'POST', 'git-receive-pack' => 'POST' }.freeze
    HEADERS = { 'CONTENT_TYPE' => 'CONTENT_TYPE', 'HTTP_CONTENT_ENCODING' => 'HTTP_CONTENT_ENCODING',
                'HTTP_GIT_PROTOCOL' => 'GIT_PROTOCOL', 'QUERY_STRING' => 'QUERY_STRING',
                'REMOTE_ADDR' => 'REMOTE_ADDR' }.freeze

    def call(env)
      Rails.application.executor.wrap { answer(env) }
    end

    private

    def answer(env)
      asked = PATH.match(env['PATH_INFO'])
      service = asked && service_of(asked[:rest], env)
      return plain(404, 'No such repository') unless service
      return plain(405, 'Method not allowed') unless METHODS[asked[:rest]] == env['REQUEST_METHOD']

      user = account(env)
      return who unless user

      repository = Repository::Git.find_by(url: "#{FOLDER}/#{asked[:name]}")
      return user.logged? ? plain(404, 'No such repository') : who unless seen?(user, repository)
      return user.logged? ? plain(403, 'You may not commit here') : who unless
        user.allowed_to?(RIGHTS.fetch(service), repository.project)

      pass_on(env, asked, service, user, repository)
    end

    def service_of(rest, env)
      service = rest == 'info/refs' ? Rack::Utils.parse_query(env['QUERY_STRING'])['service'] : rest
      service if RIGHTS.key?(service)
    end

    # The account that the request names, the anonymous one where it names none, nil where it names it wrongly.
    def account(env)
      given = Rack::Auth::Basic::Request.new(env)
      return User.anonymous unless given.provided?
      return nil unless given.basic?

      name, secret = given.credentials
      User.try_to_login(name, secret) || User.find_by_api_key(name)
    end

    def seen?(user, repository)
      repository && user.allowed_to?(:browse_repository, repository.project)
    end

    def pass_on(env, asked, service, user, repository)
      body = env['rack.input'].read
      told, = Open3.capture2(variables(env, asked, user, body), 'timeout', DEADLINE_S.to_s, 'git', 'http-backend',
                             stdin_data: body, binmode: true)
      repository.fetch_changesets if service == 'git-receive-pack' && asked[:rest] == service
      parsed(told)
    end

    def variables(env, asked, user, body)
      passed = HEADERS.filter_map { |from, to| [to, env[from]] if env[from] }.to_h
      passed.merge('GIT_PROJECT_ROOT' => FOLDER, 'GIT_HTTP_EXPORT_ALL' => '1',
                   'PATH_INFO' => "/#{asked[:name]}/#{asked[:rest]}",
                   'REQUEST_METHOD' => env['REQUEST_METHOD'], 'CONTENT_LENGTH' => body.bytesize.to_s,
                   'REMOTE_USER' => user.logged? ? user.login : nil)
    end

    def parsed(told)
      head, found, body = told.partition("\r\n\r\n")
      return plain(502, 'Git gave no answer') if found.empty?

      headers = head.split("\r\n").to_h { |line| line.split(': ', 2) }
      status = headers.delete('Status').to_i
      [status.zero? ? 200 : status, headers.merge('Content-Length' => body.bytesize.to_s), [body]]
    end

    def who
      [401, { 'Content-Type' => 'text/plain', 'WWW-Authenticate' => 'Basic realm="Forge"' }, ["Who are you?\n"]]
    end

    def plain(status, text)
      [status, { 'Content-Type' => 'text/plain' }, ["#{text}\n"]]
    end
  end
end
