WITH totals AS (
  SELECT stack_id, unit, sum(value) AS stack_total
  FROM {samples}
  {where}
  GROUP BY stack_id, unit
), functions AS (
  {functions}
)
SELECT function_name, unit, sum(stack_total) AS total
FROM totals JOIN functions USING (stack_id)
GROUP BY function_name, unit
ORDER BY total DESC, function_name, unit
{limit}
