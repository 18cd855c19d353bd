# frozen_string_literal: true

module Forge
  # Says on a repository's page where it can be cloned from.
  class CloneAddress < Redmine::Hook::ViewListener
    def view_repositories_show_contextual(context)
      repository = context[:repository]
      return '' unless repository.is_a?(Repository::Git)

      address = "#{context[:controller].request.base_url}/git/#{File.basename(repository.url)}"
      content_tag(:span, safe_join(['Clone: ', content_tag(:code, address)]), class: 'clone-address')
    end
  end
end
