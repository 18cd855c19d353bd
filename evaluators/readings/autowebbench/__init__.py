"""AutoWebBench's `eval.py` over Arena's evidence (THUDM/AutoWebGLM): step success rates."""
