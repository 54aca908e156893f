"""`hanamachi serve`: tables in the browser, to play, to watch, and to review games.

`app.py` listens, `guard.py` lets only pages of the server in, `site.py` answers, `protocol.py`
checks what browsers send, and `offers.py` lists what they can choose. `table_server.py` lets people
and policies move at their tables (`tables.py`), in the threads of `worker.py`. `store.py` keeps
everything in SQLite, `replays.py` shows games move by move, and `reviews.py` judges their moves.
`page/` is what browsers load, and `own_process.py` starts a server for scripts and benchmarks.
"""
