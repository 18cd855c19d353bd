# frozen_string_literal: true

# The overview of what happened asks for what its lines say in one go: Redmine asks for each line anew,
# which took 540 queries for ten days. The page is the same.
module ForgeActivity
  SAID = {
    'Journal' => { 'issues' => [:details, { journalized: :project, issue: %i[tracker status] }] },
    'TimeEntry' => { 'time_entries' => [:user, { issue: %i[project tracker status] }] },
    'WikiContentVersion' => { 'wiki_edits' => [:author, { page: { wiki: :project } }] }
  }.freeze

  def self.ask_at_once(model, type, said)
    told = model.activity_provider_options.fetch(type)
    scope = told.fetch(:scope)
    told[:scope] = -> { scope.call.preload(*said) }
  end
end

Rails.application.config.to_prepare do
  ForgeActivity::SAID.each do |model, types|
    types.each { |type, said| ForgeActivity.ask_at_once(model.constantize, type, said) }
  end
end
