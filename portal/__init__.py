"""The reviewer's pages: join, inbox, question, own answers, and notification settings."""
