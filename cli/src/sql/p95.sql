WITH functions AS (
  {functions}
), per_profile AS (
  SELECT profile_key, function_name, unit, sum(value) AS profile_total
  FROM {samples} AS samples JOIN functions USING (stack_id)
  {where}
  GROUP BY profile_key, function_name, unit
)
SELECT function_name, unit, count(*) AS profiles, {p95} AS p95
FROM per_profile
GROUP BY function_name, unit
ORDER BY p95 DESC, function_name, unit
{limit}
