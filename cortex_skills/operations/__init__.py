"""Operations: what callers can do, declared once for every interface."""
