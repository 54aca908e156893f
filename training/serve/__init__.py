"""`hanamachi serve`: tables in the browser, to play, to watch, and to review games.

`app.py` answers HTTP and WebSockets, `protocol.py` checks what browsers send, `hall.py` lets people
and policies move at their tables (`tables.py`), `store.py` keeps everything in SQLite, `replays.py`
shows games move by move, and `review.py` judges their moves. `page/` is what browsers load.
"""
