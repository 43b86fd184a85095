"""Runs what people have approved, in Airflow 3: a webhook starts a run for each approval.

Two files in one: Airflow reads the DAG, and your web server calls `receive`. Nothing waits: a run
begins when a person has decided. The receipt is redeemed first, so an event that is sent twice, or
made up, runs nothing.
"""

from __future__ import annotations

import os
from typing import Any

import requests
from airflow.sdk import dag, get_current_context, task
from airflow.sdk.exceptions import AirflowSkipException
from reviewloop import AlreadyRedeemed, Client, webhooks

NAME = "issue_refund"  # of the proposed call


@dag(schedule=None, catchup=False)
def approved_refunds() -> None:
    @task(retries=0)
    def redeem() -> dict[str, Any]:
        """Spends the approval and returns the arguments that a person approved."""
        event = get_current_context()["dag_run"].conf
        arguments = event["response_data"]["arguments"]
        try:
            Client().requests.redeem(event["request_id"], arguments, name=NAME)
        except AlreadyRedeemed as error:
            raise AirflowSkipException(str(error)) from None
        return arguments

    @task
    def refund(arguments: dict[str, Any]) -> None:
        """Your own work stands here."""
        print("Refunding", arguments)

    refund(redeem())


approved_refunds()


def receive(body: bytes, headers: dict[str, str]) -> int:
    """Called for a POST of the service; returns the status of the response.

    Raises InvalidSignature (respond 401) and requests.RequestException (respond 503: the service
    sends the event again).
    """
    event = webhooks.verify(body, headers, os.environ["WEBHOOK_SECRET"])
    decision, request = event["response_data"], event["data"]["request"]
    is_approval = event["event"] == "request.completed" and request["response_type"] == "approval"
    if is_approval and "arguments" in decision and read_name(request) == NAME:
        conf = {"request_id": event["request_id"], "response_data": decision}
        run = {"dag_run_id": event["request_id"], "logical_date": None, "conf": conf}
        started = requests.post(
            f"{os.environ['AIRFLOW_URL']}/api/v2/dags/approved_refunds/dagRuns",
            json=run,
            headers={"Authorization": f"Bearer {os.environ['AIRFLOW_TOKEN']}"},
            timeout=20,
        )
        if started.status_code != 409:  # the run of this event exists
            started.raise_for_status()
    return 204


def read_name(request: dict[str, Any]) -> str:
    return str(request["response_config"]["proposal"]["name"])
