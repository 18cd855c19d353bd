# frozen_string_literal: true

# How this one instance differs from Redmine's defaults. Evaluated inside config/application.rb.
require 'redmine/multi_tenancy'

config.paths['tmp'] = '/run/forge/tmp'
config.paths['config/database'] = Rails.root.join('instances/default/config/database.yml').to_s
config.cache_store = :memory_store, { size: 8 * 1024 * 1024 }
config.logger = ActiveSupport::TaggedLogging.new(ActiveSupport::Logger.new($stderr))
config.log_level = :error
config.log_tags = []
config.secret_key_base = 'forge.arena.test keeps no secrets: every replica signs with this same long line of text'
config.hosts.clear
# A replica stands still: nothing is mailed, and nothing is done later.
config.active_job.queue_adapter = :inline
config.action_mailer.perform_deliveries = false
