"""The desk: a calculator, a converter and a scratchpad whose notes are kept on the server."""
