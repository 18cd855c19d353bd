"""The agent of AutoWebGLM (arXiv 2404.03648, sections 3.1 and 3.2): simplified HTML and calls."""
