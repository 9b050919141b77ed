WITH totals AS (
  SELECT stack_id, unit, sum(value) AS stack_total
  FROM {samples}
  {where}
  GROUP BY stack_id, unit
), prefixes AS (
  {prefixes}
)
SELECT depth, function_name, path, unit,
  sum(CASE WHEN depth = stack_depth THEN stack_total ELSE 0 END) AS self,
  sum(stack_total) AS total
FROM totals JOIN prefixes USING (stack_id)
GROUP BY depth, function_name, path, unit
ORDER BY path, unit
{limit}
