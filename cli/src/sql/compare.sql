WITH totals AS (
  SELECT stack_id, unit,
    sum(CASE WHEN service_version = {old} THEN value ELSE 0 END) AS old_stack,
    sum(CASE WHEN service_version = {new} THEN value ELSE 0 END) AS new_stack
  FROM {samples}
  {where}
  GROUP BY stack_id, unit
), functions AS (
  {functions}
), sums AS (
  SELECT function_name, unit, sum(old_stack) AS old_total, sum(new_stack) AS new_total
  FROM totals JOIN functions USING (stack_id)
  GROUP BY function_name, unit
), versions AS (
  SELECT unit,
    sum(CASE WHEN service_version = {old} THEN value_sum ELSE 0 END) AS old_all,
    sum(CASE WHEN service_version = {new} THEN value_sum ELSE 0 END) AS new_all
  FROM {profiles}
  {where}
  GROUP BY unit
), shares AS (
  SELECT function_name, unit, old_total, new_total,
    round(1e2 * old_total / nullif(old_all, 0), 2) AS old_percent,
    round(1e2 * new_total / nullif(new_all, 0), 2) AS new_percent
  FROM sums JOIN versions USING (unit)
)
SELECT function_name, unit, old_total, new_total, old_percent, new_percent,
  round(new_percent - old_percent, 2) AS change
FROM shares
ORDER BY change DESC, function_name, unit
{limit}
