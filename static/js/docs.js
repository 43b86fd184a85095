"use strict";

const place = document.getElementById("docs");

SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  validatorUrl: null, // the validator would call another host
});
