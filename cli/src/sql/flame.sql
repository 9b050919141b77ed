WITH totals AS (
  SELECT stack_id, sum(value) AS stack_total
  FROM {samples}
  {where}
  GROUP BY stack_id
), paths AS (
  SELECT {folded} AS path, stack_total
  FROM totals JOIN {stacks} AS stacks USING (stack_id)
)
SELECT path || ' ' || CAST(sum(stack_total) AS {text}) AS folded
FROM paths
GROUP BY path
ORDER BY folded
{limit}
