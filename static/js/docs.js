"use strict";

const place = document.getElementById("docs");

SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: true,
  validatorUrl: null, // it would ask another host
});
