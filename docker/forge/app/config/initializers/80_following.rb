# frozen_string_literal: true

# People follow people: a watch of an account, which its page shows (app/views/users).
Rails.application.config.to_prepare do
  User.acts_as_watchable
  User.class_eval { def project = nil } # what is watched is asked for it; nobody else may add a follower
end
