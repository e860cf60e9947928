"""`python -m cortex_skills`: the command, where it is not on the path."""

from cortex_skills.doors.cli import main

if __name__ == "__main__":
    main()
