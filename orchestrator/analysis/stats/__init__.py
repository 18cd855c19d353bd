"""What a run's or a study's scores say, with how sure one can be: pure functions.

numpy and scipy are imported by the procedures that need them, never with these modules. What is
random takes a seed. An unscored episode is never a zero, and what cannot be said is None with the
reason (`undefined`). Which question takes which procedure, and what was simulated of it, stands in
docs/what-the-numbers-mean.md.

Unit of analysis: the task. Repeats of a task are averaged inside it first, so that playing one task
more often makes it no weightier (Miller, Adding error bars to evals, arXiv 2411.00640:
resampled answers are averaged within the question).

Formulas and sources of a run's report (`rates`, `summary`, `agreement`); those of a study's stand
with its procedures:

- interval of a rate: Wilson's score interval (Wilson 1927; recommended by Newcombe 1998, Statistics
  in Medicine 17:857, method 3, and by Brown, Cai and DasGupta 2001). With p the rate, n the
  effective number of episodes and z Student's quantile (see `clustered`):
  `(p + z²/2n ± z·√(p(1-p)/n + z²/4n²)) / (1 + z²/n)`.
- bounds over the unscored: every unscored trial counted as a failure (worst) and as a success
  (best); the truth lies between whatever the reasons were (Manski 1989).
- completion: macro is the mean of the tasks' completion, micro the key nodes met ÷ all key nodes.
- SR(0), SR(1): share of tasks whose key nodes were met but for at most 0 or 1 (WebCanvas, arXiv
  2406.12373, appendix J.3). End checks play no part in them; they do in success.
- paired worlds: McNemar's exact test (1947): with b and c tasks won in one world only, the
  two-sided p is `min(1, 2·P[X ≤ min(b, c)])`, X binomial with b + c trials and probability 1/2.
- chance-corrected agreement: Cohen's kappa (1960), `(po - pe) / (1 - pe)`; undefined where both
  worlds gave one and the same answer to every task, so that pe is 1.
"""
