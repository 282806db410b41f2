"""Reading runs: verify, status, diff, prove, explain, replay; reports, the live page, packs."""
