"""The contract of a feature learner and what every family shares on the way of a fit."""
