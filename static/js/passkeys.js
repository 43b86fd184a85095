// Creates passkeys and signs in with them (WebAuthn). Without this script the forms stay hidden.

import { toBytes, toText } from "./base64url.js";
import { gettext } from "./words.js";

const SENTENCES = {
  create: gettext("No passkey was created. Try again, or check that this device has a screen lock."),
  get: gettext("No passkey was used. Try again, or use another way to sign in."),
  known: gettext("This device already has a passkey for this account."),
  unsupported: gettext("Passkeys don’t work at this address. They need HTTPS and a host name."),
};

function readIds(descriptors) {
  return (descriptors ?? []).map((each) => ({ ...each, id: toBytes(each.id) }));
}

function create(options) {
  return navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: toBytes(options.challenge),
      user: { ...options.user, id: toBytes(options.user.id) },
      excludeCredentials: readIds(options.excludeCredentials),
    },
  });
}

function get(options) {
  return navigator.credentials.get({
    publicKey: {
      ...options,
      challenge: toBytes(options.challenge),
      allowCredentials: readIds(options.allowCredentials),
    },
  });
}

// Returns the credential as JSON, with its bytes in base64url.
function serialize(credential) {
  const { response } = credential;
  const parts = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (response[name]) parts[name] = toText(response[name]);
  }
  if (response.getTransports) parts.transports = response.getTransports();
  return JSON.stringify({
    id: credential.id,
    rawId: toText(credential.rawId),
    type: credential.type,
    response: parts,
    clientExtensionResults: credential.getClientExtensionResults(),
  });
}

async function readOptions(form) {
  const { optionsUrl } = form.dataset;
  if (!optionsUrl) return JSON.parse(document.getElementById("passkey-options").textContent);
  const response = await fetch(optionsUrl, { headers: { Accept: "application/json" } });
  return (await response.json()).request_options;
}

function explain(error, action) {
  if (error.name === "InvalidStateError") return SENTENCES.known;
  if (error.name === "SecurityError") return SENTENCES.unsupported;
  return SENTENCES[action];
}

// A second tap meanwhile does nothing, as with every form (app.js).
async function run(form) {
  if (form.dataset.sent) return;
  form.dataset.sent = "yes";
  const action = form.dataset.passkey;
  const problem = form.querySelector("[data-passkey-problem]");
  problem.hidden = true;
  try {
    const { publicKey } = await readOptions(form);
    const credential = await (action === "create" ? create(publicKey) : get(publicKey));
    form.elements.credential.value = serialize(credential);
    const remember = document.getElementById("id_remember");
    if (form.elements.remember) form.elements.remember.disabled = !remember?.checked;
    form.submit();
  } catch (error) {
    delete form.dataset.sent;
    problem.textContent = explain(error, action);
    problem.hidden = false;
  }
}

if ("PublicKeyCredential" in window) {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      run(form);
    });
  }
  for (const each of document.querySelectorAll("[data-without-passkeys]")) each.hidden = true;
}
