"""How strong policies are: matches on identical deals, intervals, tables and plots."""
