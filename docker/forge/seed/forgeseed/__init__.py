"""The forge's content from a fixed seed: people, projects, issues, histories; no Redmine here."""
