"""Figures as PDF and PNG."""
