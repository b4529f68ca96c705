"""python -m panconv"""

from panconv.cli import main

if __name__ == "__main__":
    main()
