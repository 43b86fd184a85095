-- Requests, newest first, of the loops given: completed 60 of 100, timed out 20,
-- cancelled 8, pending 10, claimed 2 (of the newest 20,000: claims last minutes). Each loop has half
-- of what the loops before it left over. What has ended did so as the transitions would have it,
-- after one to twenty minutes, or ten.
INSERT INTO reviews_request (
    id, loop_id, creator_id, api_key_id, processing_type, type, priority, request_text, context,
    timeout_seconds, response_type, response_config, default_response, platform, status,
    timeout_at, response_data, response_by_id, response_at, claimed_by_id, claimed_at,
    claim_expires_at, claim_count, broadcasted_to, notifications_sent, created_at, updated_at)
SELECT lpad(to_hex((extract(epoch FROM born) * 1000)::bigint), 12, '0')
           || substr(md5(number::text), 1, 9) || right(loop.creator_id, 3),
       loop.id, loop.creator_id, key.id, 'deferred', 'markdown',
       (ARRAY['medium', 'medium', 'medium', 'high', 'high', 'low', 'low', 'critical'])
           [1 + mod(number / 7, 8)],
       'Should we refund order ' || number || '? The parcel arrived broken, and the carrier has '
           || 'not answered in four days.',
       json_build_object('order', number, 'customer', json_build_object(
           'since', 2019, 'claims', json_build_array(1, 2, 3), 'tier', 'gold')),
       CASE status WHEN 'timeout' THEN 600 ELSE 2592000 END, 'single_select',
       '{"options": [{"value": "yes", "label": "Yes"}, {"value": "no", "label": "No"}]}', '"no"',
       'api', status,
       CASE WHEN is_open THEN now() + make_interval(days => 2, secs => mod(number, 2000000))
            WHEN status = 'timeout' THEN ended ELSE born + interval '30 days' END,
       CASE status WHEN 'completed' THEN '"yes"'::json WHEN 'timeout' THEN '"no"' END,
       CASE status WHEN 'completed' THEN loop.creator_id END,
       CASE status WHEN 'completed' THEN ended END,
       CASE status WHEN 'claimed' THEN loop.creator_id END,
       CASE status WHEN 'claimed' THEN born END,
       CASE status WHEN 'claimed' THEN now() + interval '1 day' END,
       CASE status WHEN 'claimed' THEN 1 ELSE 0 END, 3, 0, born,
       CASE WHEN is_open THEN born ELSE ended END
  FROM (SELECT number, now() - interval '20 minutes'
                   - interval '90 days' * (number::float / %(count)s) AS born,
               (%(loops)s::text[])[least(%(most)s, 1 + floor(-ln(1 - random()) / ln(2))::int)]
                   AS loop_id
          FROM generate_series(1, %(count)s::int) number) drawn
  JOIN loops_loop loop ON loop.id = drawn.loop_id
  LEFT JOIN (SELECT user_id, min(id) AS id FROM accounts_apikey GROUP BY user_id) key
       ON key.user_id = loop.creator_id
 CROSS JOIN LATERAL (SELECT CASE WHEN mod(number, 100) * 37 %% 100 < 60 THEN 'completed'
                                 WHEN mod(number, 100) * 37 %% 100 < 80 THEN 'timeout'
                                 WHEN mod(number, 100) * 37 %% 100 < 88 THEN 'cancelled'
                                 WHEN mod(number, 100) * 37 %% 100 < 98 OR number > 20000 THEN 'pending'
                                 ELSE 'claimed' END AS status) AS life
 CROSS JOIN LATERAL (SELECT status IN ('pending', 'claimed') AS is_open,
                            born + make_interval(secs => CASE status WHEN 'timeout' THEN 600
                                ELSE 60 + mod(number::bigint * 7919, 1140) END) AS ended) AS fate
