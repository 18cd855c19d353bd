# frozen_string_literal: true

# /health answers "ready" once the database gives an issue's subject.
class ForgeHealth
  def initialize(app)
    @app = app
  end

  def call(env)
    return @app.call(env) unless env['PATH_INFO'] == '/health'

    Issue.connection_pool.with_connection { Issue.order(:id).limit(1).pluck(:subject).first || 'no issues' }
    [200, { 'Content-Type' => 'text/plain', 'Cache-Control' => 'no-store' }, ["ready\n"]]
  end
end

Rails.application.config.middleware.insert_before(0, ForgeHealth)
