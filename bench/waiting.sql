-- Pending requests of one loop with their deadlines around one second.
INSERT INTO reviews_request (
    id, loop_id, creator_id, processing_type, type, priority, request_text, context,
    timeout_seconds, response_type, response_config, default_response, platform, callback_url,
    status, timeout_at, claim_count, broadcasted_to, notifications_sent, created_at, updated_at)
SELECT lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint), 12, '0')
           || lpad(to_hex(number), 9, '0') || right(%(creator)s, 3),
       %(loop)s, %(creator)s, 'deferred', 'markdown', 'high',
       repeat('Should we refund order 4821? The parcel arrived broken. ', 2),
       '{"order": 4821, "customer": {"since": 2019, "claims": [1, 2, 3]}}',
       600, 'single_select', '{"options": [{"value": "yes", "label": "Yes"}, "no"]}', '"no"',
       'api', %(callback_url)s, 'pending',
       now() + make_interval(secs => %(due_in)s - number / %(count)s::float),
       0, 1, 0, now() - interval '10 minutes', now() - interval '10 minutes'
  FROM generate_series(1, %(count)s::int) number
