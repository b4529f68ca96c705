"""What a training leaves behind: lines of JSON, read, checked, upgraded and ranked."""
