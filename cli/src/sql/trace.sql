SELECT time, service_name, type, unit, value, span_id, {folded} AS path
FROM {samples} AS samples JOIN {stacks} AS stacks USING (stack_id)
{where}
ORDER BY time, service_name, type, span_id, path, value
{limit}
