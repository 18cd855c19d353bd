"""Talks to a model behind any endpoint that speaks OpenAI's chat-completions API."""
