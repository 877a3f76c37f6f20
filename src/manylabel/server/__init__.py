"""The server: models behind HTTP, in the dialects that existing clients speak. It calls `tasks` and nothing below.

`supervisor` starts worker processes and keeps them running; each is `worker`, which answers requests. A request passes
`gate` (token, limits, metrics); an `Operation` of `dialects` answers it, or the control plane (`control`, FastAPI).
"""
