# frozen_string_literal: true

# Sets up the gems; compiled code comes from the cache that the image carries.
ENV['BUNDLE_GEMFILE'] ||= File.expand_path('../Gemfile', __dir__)
ENV['RAILS_ENV'] ||= 'production'

require 'msgpack'
require 'bootsnap'
Bootsnap.setup(cache_dir: '/srv/forge/cache', development_mode: false, compile_cache_json: false)
require 'bundler/setup'
