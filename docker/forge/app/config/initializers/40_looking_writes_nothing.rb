# frozen_string_literal: true

# What Redmine notes of its own accord when somebody logs in or looks at a page is not noted here.
module ForgeLooking
  # A session is believed for its signature, which a new password ends; there is no row per login.
  module Sessions
    def generate_session_token
      OpenSSL::HMAC.hexdigest('SHA256', Rails.application.secret_key_base, "session/#{id}/#{hashed_password}")
    end

    def delete_session_token(_value); end

    def update_last_login_on!; end

    module Verification
      def verify_session_token(user_id, token)
        user = User.active.find_by(id: user_id)
        !user.nil? && ActiveSupport::SecurityUtils.secure_compare(token.to_s, user.generate_session_token)
      end
    end
  end

  # Which projects somebody visited last.
  module Visits
    def project_used(_project); end
  end

  # How often a file was fetched.
  module Downloads
    def increment_download; end
  end
end

Rails.application.config.to_prepare do
  User.prepend(ForgeLooking::Sessions)
  User.singleton_class.prepend(ForgeLooking::Sessions::Verification)
  Redmine::ProjectJumpBox.prepend(ForgeLooking::Visits)
  Attachment.prepend(ForgeLooking::Downloads)
end
