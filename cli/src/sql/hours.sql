WITH totals AS (
  SELECT stack_id, unit, time_unix_nano - time_unix_nano % 3600000000000 AS hour_nano,
    sum(value) AS stack_total
  FROM {samples}
  {where}
  GROUP BY stack_id, unit, time_unix_nano - time_unix_nano % 3600000000000
), functions AS (
  {functions}
), sites AS (
  SELECT hour_nano, function_name, unit, sum(stack_total) AS total
  FROM totals JOIN functions USING (stack_id)
  GROUP BY hour_nano, function_name, unit
), counts AS (
  SELECT unit, time_unix_nano - time_unix_nano % 3600000000000 AS hour_nano, count(*) AS profiles
  FROM {profiles}
  {where}
  GROUP BY unit, time_unix_nano - time_unix_nano % 3600000000000
)
SELECT {hour} AS hour, function_name, unit, profiles, total, round(1e0 * total / profiles, 1) AS mean
FROM sites JOIN counts USING (hour_nano, unit)
ORDER BY hour_nano, total DESC, function_name, unit
{limit}
