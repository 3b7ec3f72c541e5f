"""How good are the decisions, on labelled questions: cases, measures, calibration, report. Needs the `eval` extra."""
