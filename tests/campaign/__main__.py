import sys

from campaign.run import command

if __name__ == "__main__":
    sys.exit(command())
