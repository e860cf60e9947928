"""What every request passes, one idea a file; `app.py` puts them in order."""
