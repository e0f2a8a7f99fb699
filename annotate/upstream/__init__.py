"""What the pinned code says: where its bytes come from and which symbols they define."""
