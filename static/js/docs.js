"use strict";

const place = document.getElementById("docs");

SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  validatorUrl: null, // the validator would call another host
  // The document names the service's public address; somebody may look at it under another one.
  requestInterceptor: (request) => {
    const { pathname, search } = new URL(request.url, location.origin);
    request.url = location.origin + pathname + search;
    return request;
  },
});
