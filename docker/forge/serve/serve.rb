# frozen_string_literal: true

# Loads Redmine once, looks at its pages so that their code is warm, and then keeps one child that serves:
# a child that a rewind killed is followed by one whose memory is as the first one's was.
$stdout.sync = $stderr.sync = true
Dir.chdir('/srv/forge/app')
require '/srv/forge/app/config/environment'
require 'puma'
require 'puma/configuration'
require 'puma/launcher'
require_relative 'forge/clone_address'
require_relative 'forge/door'
require_relative 'forge/warmth'

SOCKET = '/run/forge/app.sock'
LISTENER = 3
APP = Forge::Door.new(Rails.application)

def serve
  ENV['LISTEN_PID'] = Process.pid.to_s
  ENV['LISTEN_FDS'] = '1'
  settings = Puma::Configuration.new do |config|
    config.app APP
    config.bind "unix://#{SOCKET}"
    config.threads 4, 4
    config.workers 0
    config.environment 'production'
    config.quiet
    config.log_requests false
    config.raise_exception_on_sigterm false
  end
  Puma::Launcher.new(settings, events: Puma::Events.new(File.open(File::NULL, 'w'), $stderr)).run
end

Forge::Warmth.new(APP).spread
child = nil
trap('TERM') do
  Process.kill('TERM', child) if child
  exit!(0)
end
loop do
  child = fork do
    trap('TERM', 'DEFAULT')
    serve
  end
  Process.wait(child)
end
