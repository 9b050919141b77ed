WITH totals AS (
  SELECT stack_id, unit, sum(value) AS stack_total
  FROM {samples}
  {where}
  GROUP BY stack_id, unit
), functions AS (
  {cumulative}
), leaves AS (
  SELECT stack_id, function_name AS leaf
  FROM ({self}) AS leaves
)
SELECT function_name, unit,
  sum(CASE WHEN function_name = leaf THEN stack_total ELSE 0 END) AS self,
  sum(stack_total) AS total
FROM totals JOIN functions USING (stack_id) JOIN leaves USING (stack_id)
WHERE {matches}
GROUP BY function_name, unit
ORDER BY total DESC, function_name, unit
{limit}
