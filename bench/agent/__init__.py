"""What the agent costs."""
