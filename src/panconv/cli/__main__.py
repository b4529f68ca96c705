"""python -m panconv.cli"""

from panconv.cli import main

main()
